// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// Event names of libpfm4.
#include <string.h>

#include "config.h"
#include "live/event_source.h"

#if HAVE_PFM
#include "base/late/late_pfm.h"

struct imp_error *event_from_pfm(const char *name, struct event_attr *attr, bool *is_known)
{
	struct perf_event_attr pfm = { .size = sizeof pfm };
	pfm_perf_encode_arg_t arg = { .attr = &pfm, .size = sizeof arg };
	static bool is_ready;
	struct imp_error *err = late_pfm_load();
	if (err)
		return err;
	if (!is_ready && pfm_initialize() != PFM_SUCCESS)
		return NULL;
	is_ready = true;
	if (pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &arg) !=
	    PFM_SUCCESS)
		return NULL;
	attr->type = pfm.type;
	attr->config = pfm.config;
	attr->config1 = pfm.config1;
	attr->config2 = pfm.config2;
	attr->flags |= (uint64_t)pfm.exclude_user << ATTR_EXCLUDE_USER |
		       (uint64_t)pfm.exclude_kernel << ATTR_EXCLUDE_KERNEL |
		       (uint64_t)pfm.exclude_hv << ATTR_EXCLUDE_HV |
		       (uint64_t)pfm.precise_ip << ATTR_PRECISE_IP;
	*is_known = true;
	return NULL;
}
#else
struct imp_error *event_from_pfm(const char *name, struct event_attr *attr, bool *is_known)
{
	(void)name;
	(void)attr;
	(void)is_known;
	return NULL;
}
#endif
