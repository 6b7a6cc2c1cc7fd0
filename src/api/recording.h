// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// What stands behind the library's recording.
#ifndef API_RECORDING_H
#define API_RECORDING_H

#include "analyze/survey.h"
#include "imprint/recording.h"

struct imp_recording {
	struct recording *recording;
	struct survey *survey;
};

#endif
