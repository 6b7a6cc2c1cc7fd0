#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Snapshots of a fleet that never was, made of one real snapshot: DIR SNAPSHOT HOSTS DAYS [PROGRAMS [DAY]].

Hosts run a base system and some of the services; packages are upgraded in waves, host by host over days; a few hosts
are left behind. With DAY only the snapshots of that day are written. The numbers are drawn from a fixed seed: two runs make the same files.
"""
import hashlib
import json
import random
import sys

IMAGES_OF_A_PROGRAM = 20
SHARED = 12  # of which this many are libraries that most programs have
UPGRADES_A_DAY = 4  # of the fleet's libraries
LAG_DAYS = 3  # in which an upgrade reaches all hosts but those left behind
FIRST_DAY = 1_764_547_200  # 2025-12-01


def build(text):
    return hashlib.sha1(text.encode()).hexdigest()


def time_text(second):
    import datetime
    return datetime.datetime.fromtimestamp(second, datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%S.000000000Z')


def real_parts(path):
    """The images that the real snapshot has, and its head and kernel."""
    head, kernel, images = {}, {'type': 'kernel', 'release': '6.1.0-1'}, []
    for line in open(path, encoding='utf-8'):
        line = json.loads(line)
        if line['type'] == 'snapshot':
            head = line
        elif line['type'] == 'kernel':
            kernel = line
        elif line['type'] == 'image' and line['kind'] == 'file':
            images.append(line)
    return head, kernel, images


class Fleet:
    def __init__(self, images, hosts, days, programs):
        self.random = random.Random(1)
        self.images = list(images)
        while len(self.images) < SHARED + programs * (IMAGES_OF_A_PROGRAM - SHARED) // 3:
            number = len(self.images)
            self.images.append({'path': f'/usr/lib/x86_64-linux-gnu/libpart{number}.so.1',
                                'soname': f'libpart{number}.so.1', 'size': 100000 + number})
        shared = list(range(SHARED))
        rest = range(SHARED, len(self.images))
        self.programs = [shared + self.random.sample(rest, IMAGES_OF_A_PROGRAM - SHARED) for _ in range(programs)]
        self.runs = [sorted(self.random.sample(range(programs), programs * 2 // 3)) for _ in range(hosts)]
        self.left_behind = [self.random.random() < 0.03 for _ in range(hosts)]
        self.lag = [self.random.randrange(LAG_DAYS) for _ in range(hosts)]
        # On which days each image was released anew.
        self.released = {}
        for day in range(-30, days):
            for image in self.random.sample(range(len(self.images)), UPGRADES_A_DAY):
                self.released.setdefault(image, []).append(day)

    def version(self, image, host, day):
        seen = -30 if self.left_behind[host] else day - self.lag[host]
        return sum(1 for released in self.released.get(image, []) if released <= seen)

    def lines(self, head, kernel, host, day):
        second = FIRST_DAY + day * 86400 + host
        yield dict(head, time=time_text(second), host=f'host-{host:06d}', machine_id=build(f'host {host}')[:32])
        yield kernel
        numbers = {}
        for image in sorted({image for program in self.runs[host] for image in self.programs[program]}):
            version = self.version(image, host, day)
            numbers[image] = len(numbers)
            path = self.images[image]['path']
            yield dict(self.images[image], type='image', image=numbers[image], kind='file', id=build(f'{path} {version}'),
                       package=json.dumps({'name': path.rsplit('/', 1)[-1], 'version': f'1.{version}'}))
        for number, program in enumerate(self.runs[host]):
            mappings = [f'{0x7f0000000000 + at * 0x200000:x} 100000 1000 {numbers[image]}'
                        for at, image in enumerate(self.programs[program])]
            yield {'type': 'process', 'pid': 100 + number, 'comm': f'program{program}', 'uid': 0,
                   'exe': f'/usr/sbin/program{program}', 'unit': f'program{program}.service', 'mappings': mappings}
        yield {'type': 'end'}


def main():
    directory, snapshot, hosts, days = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    programs = int(sys.argv[5]) if len(sys.argv) > 5 else 150
    head, kernel, images = real_parts(snapshot)
    fleet = Fleet(images, hosts, days, programs)
    for day in [int(sys.argv[6])] if len(sys.argv) > 6 else range(days):
        for host in range(hosts):
            with open(f'{directory}/{day:03d}-{host:06d}.json', 'w', encoding='utf-8') as out:
                for line in fleet.lines(head, kernel, host, day):
                    out.write(json.dumps(line, separators=(',', ':')) + '\n')


main()
