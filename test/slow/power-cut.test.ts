import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { openDatabase } from '../../infra/local/database.ts'
import { openObjects } from '../../infra/local/folder-objects.ts'
import { openRunStore } from '../../infra/local/run-store/run-store.ts'
import { openStoredObjects } from '../../infra/local/stored-objects.ts'
import { keyOf, newRun } from '../conformance/run-store-fixture.ts'
import { readDisk, type TracedCall, tracedCalls } from './traced-disk.ts'

/**
 * What `durability` promises when the machine loses power (docs/operate.md, "What is durable"). A writer runs under
 * strace, of the stores alone or a place that is asked over HTTP; from its calls two disks are made for each moment: one that has what was fsynced and nothing else, and one on
 * which each later write and name may have arrived or not. What the writer had been told by then must be there.
 */
const ROOT = join(import.meta.dirname, '../..')
const CALLS = 'openat,pwrite64,write,ftruncate,fsync,fdatasync,rename,mkdir,unlink'
const MOMENTS = 200
const RUNS = 30
const folder = mkdtempSync(join(tmpdir(), 'sluice-power-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const hasStrace = spawnSync('strace', ['-V']).status === 0

describe.skipIf(!hasStrace)('a power cut (where there is strace)', () => {
  const full = `full: of ${MOMENTS} moments none loses what was acknowledged`
  test.each(['power-cut-writer', 'power-cut-place'] as const)(`${full} by %s`, { timeout: 900_000 }, async (writer) => {
    const calls = written('full', writer)
    const lost: string[] = []
    for (const { at, told } of momentsOf(calls)) {
      for (const kind of ['fsynced', 'mixed'] as const) {
        for (const one of await missing(calls.slice(0, at), told, kind, at)) lost.push(`${kind} at ${at}: ${one}`)
      }
    }
    expect(lost).toEqual([])
  })

  test('normal: loses some, and opens all the same', { timeout: 300_000 }, async () => {
    const calls = written('normal')
    // While it writes: its last calls are those of the end, which brings everything to the disk.
    const { at, told } = momentsOf(calls)[MOMENTS / 2] ?? { at: calls.length, told: [] }
    expect((await missing(calls.slice(0, at), told, 'fsynced', at)).length).toBeGreaterThan(0)
  })
})

function written(
  durability: 'normal' | 'full',
  name: 'power-cut-writer' | 'power-cut-place' = 'power-cut-writer',
): readonly TracedCall[] {
  const [data, trace] = [join(folder, `${name}-${durability}`), join(folder, `${name}-${durability}.trace`)]
  const strace = ['-f', '-y', '-xx', '-s', '1000000', '-e', `trace=${CALLS}`, '-o', trace]
  const writer = [process.execPath, join(ROOT, `test/slow/${name}.ts`), data, durability, String(RUNS)]
  const done = spawnSync('strace', [...strace, ...writer], { cwd: ROOT, encoding: 'utf8' })
  expect([done.status, done.stderr]).toEqual([0, expect.any(String)])
  return tracedCalls(readFileSync(trace, 'utf8'), data)
}

interface Moment {
  /** So many calls were made. */
  readonly at: number
  /** What the writer had said by then. */
  readonly told: readonly string[]
}

/** Moments spread over the time since the first word, from a fixed seed. */
function momentsOf(calls: readonly TracedCall[]): readonly Moment[] {
  const first = calls.findIndex(({ name }) => name === 'said')
  const random = seeded(7)
  return Array.from({ length: MOMENTS }, (_, i) => {
    const share = (i + random()) / MOMENTS
    const at = first + 1 + Math.floor(share * (calls.length - first - 1))
    const told = calls
      .slice(0, at)
      .flatMap((call) => (call.name === 'said' ? call.text.split('\n').filter(Boolean) : []))
    return { at, told }
  })
}

async function missing(
  calls: readonly TracedCall[],
  told: readonly string[],
  kind: 'fsynced' | 'mixed',
  seed: number,
): Promise<readonly string[]> {
  const disk = mkdtempSync(join(folder, 'disk-'))
  const random = seeded(seed)
  for (const [path, body] of readDisk(calls, kind === 'fsynced' ? () => false : () => random() < 0.5)) {
    mkdirSync(dirname(join(disk, path)), { recursive: true })
    writeFileSync(join(disk, path), body)
  }
  const db = openDatabase(disk)
  try {
    expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
    const store = openRunStore(db)
    const objects = openStoredObjects(db, openObjects(join(disk, 'objects')))
    const isThere = async (line: string) => {
      const [what, name = '', seq = ''] = line.split(' ')
      if (what === 'object') return objects.get('main', name).then(Boolean, () => false)
      if (what === 'started' || what === 'ended') {
        const head = await store.head({ tenant: 'main', run_id: name })
        return what === 'started' ? head !== undefined : head?.state === 'completed'
      }
      return ((await store.head(keyOf(newRun(Number(name)).meta)))?.seq ?? 0) >= Number(seq)
    }
    const found = await Promise.all(told.map(isThere))
    return told.filter((_, i) => found[i] === false)
  } finally {
    db.close()
    rmSync(disk, { recursive: true, force: true })
  }
}

/** Numbers from 0 to 1 that are the same each time (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
