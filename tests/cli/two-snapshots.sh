# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# before.json and after.json: one host on two days. Sourced by cases.
cat >before.json <<'END'
{"type":"snapshot","version":1,"source":"live","time":"2026-11-30T10:00:00.000000000Z","host":"web1","machine_id":"01","os":"debian","os_version":"12","architecture":"x86_64"}
{"type":"kernel","release":"6.1.0-7-amd64","id":"aa00aa00aa00"}
{"type":"module","name":"ext4","id":"ee00ee00ee00","address":"0xffffffffc0000000","size":4096}
{"type":"image","image":0,"kind":"file","path":"/usr/sbin/web","id":"010101010101"}
{"type":"image","image":1,"kind":"file","path":"/usr/lib/libz.so.1.2","id":"020202020202","soname":"libz.so.1","package":"{\"name\":\"zlib\",\"version\":\"1.2\"}"}
{"type":"image","image":2,"kind":"file","path":"/usr/lib/libweb.so.1","id":"030303030303","soname":"libweb.so.1"}
{"type":"image","image":3,"kind":"file","path":"/usr/lib/unreadable.so"}
{"type":"image","image":4,"kind":"vdso","path":"[vdso]","id":"0d0d0d0d0d0d"}
{"type":"process","pid":7,"comm":"web","exe":"/usr/sbin/web","uid":33,"unit":"web.service","mappings":["10000 1000 1000 0","20000 1000 1000 1","30000 1000 1000 2","40000 1000 0 3","50000 1000 0 4"]}
{"type":"process","pid":8,"comm":"old","exe":"/usr/sbin/old","uid":0,"unit":"old.service","mappings":["20000 1000 1000 1"]}
{"type":"end","images":5,"processes":2,"kernel_threads":0,"gone":0,"forbidden":0}
END
cat >after.json <<'END'
{"type":"snapshot","version":1,"source":"live","time":"2026-12-01T10:00:00.000000000Z","host":"web1","machine_id":"01","os":"debian","os_version":"12","architecture":"x86_64"}
{"type":"kernel","release":"6.1.0-7-amd64","id":"aa00aa00aa00"}
{"type":"module","name":"ext4","id":"ee11ee11ee11","address":"0xffffffffc0000000","size":4096}
{"type":"image","image":0,"kind":"file","path":"/usr/sbin/web","id":"010101010101"}
{"type":"image","image":1,"kind":"file","path":"/usr/lib/libz.so.1.3","id":"121212121212","soname":"libz.so.1","package":"{\"name\":\"zlib\",\"version\":\"1.3\"}"}
{"type":"image","image":2,"kind":"file","path":"/usr/lib/libweb.so.1","id":"131313131313","soname":"libweb.so.1"}
{"type":"image","image":3,"kind":"file","path":"/usr/lib/unreadable.so"}
{"type":"image","image":4,"kind":"vdso","path":"[vdso]","id":"0d0d0d0d0d0d"}
{"type":"image","image":5,"kind":"file","path":"/usr/lib/libadded.so.1","id":"141414141414"}
{"type":"process","pid":107,"comm":"web","exe":"/usr/sbin/web","uid":33,"unit":"web.service","mappings":["10000 1000 1000 0","20000 1000 1000 1","30000 1000 1000 2","40000 1000 0 3","50000 1000 0 4"]}
{"type":"process","pid":108,"comm":"new","exe":"/usr/sbin/new","uid":0,"unit":"new.service","mappings":["20000 1000 1000 5"]}
{"type":"end","images":6,"processes":2,"kernel_threads":0,"gone":0,"forbidden":0}
END
