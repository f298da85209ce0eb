import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../shared/errors.ts'
import { createHealth, type Health } from '../../shared/ports/health.ts'
import type { Clock } from '../../shared/ports/host.ts'
import type { Isolate } from '../../shared/ports/isolate.ts'
import type { Journal } from './asl/journal.ts'
import { storeFault, transaction } from './database.ts'

interface HealthParts {
  readonly db: DatabaseSync
  /** The data folder. */
  readonly folder: string
  readonly isolate: Isolate
  /** Of the machine. */
  readonly journal: Pick<Journal, 'use' | 'durable'>
  readonly clock: Clock
  readonly project?: Health['project']
}

/** As much as a start of a small document writes: a disk on which this has no room has none for a run either. */
const PROBE_BYTES = 65_536

/** What the local place is looked at for: each part is really used, and what was written is taken away again. */
export function openHealth({ db, folder, isolate, journal, clock, project }: HealthParts): Health {
  const health = createHealth(
    {
      reads: { checked: 'a row of the database was read', probe: async () => readRow(db) },
      writes: {
        checked: `${PROBE_BYTES / 1_024} KiB were committed to the database and written to the folder of objects, and removed`,
        probe: async () => {
          writeRow(db)
          writeFile(join(folder, 'objects'))
        },
      },
      machine: { checked: 'the journal that moves runs took a write', probe: journalProbe(journal, clock) },
      isolates: { checked: 'an isolate computed an expression', probe: () => compute(isolate) },
    },
    clock,
  )
  return project === undefined ? health : { ...health, project }
}

/** What the journal could not write it keeps and tries again: it gets no second one until then. */
function journalProbe({ use, durable }: HealthParts['journal'], clock: HealthParts['clock']): () => Promise<void> {
  let isOwed = false
  return async () => {
    if (!isOwed) use('health-probe', clock.now())
    isOwed = true
    await durable()
    isOwed = false
  }
}

function readRow(db: DatabaseSync): void {
  try {
    db.prepare('SELECT run FROM runs ORDER BY run DESC LIMIT 1').get()
  } catch (cause) {
    throw storeFault(cause, 'read the run store')
  }
}

/** Two commits: in one, the room would be taken and given back without a byte on the disk. */
function writeRow(db: DatabaseSync): void {
  transaction(db, () => {
    db.exec('CREATE TABLE IF NOT EXISTS health_probe (id INTEGER PRIMARY KEY, body BLOB NOT NULL)')
    db.prepare('INSERT OR REPLACE INTO health_probe (id, body) VALUES (1, ?)').run(randomBytes(PROBE_BYTES))
  })
  transaction(db, () => db.exec('DELETE FROM health_probe'))
}

function writeFile(folder: string): void {
  const path = join(folder, `.health-${process.pid}.tmp`)
  const body = randomBytes(PROBE_BYTES)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(path, body, { mode: 0o600 })
    const isThere = readFileSync(path).equals(body)
    rmSync(path, { force: true })
    if (!isThere) throw unwritable('a file does not hold what was written to it')
  } catch (cause) {
    throw cause instanceof Fault ? cause : unwritable(cause instanceof Error ? cause.message : String(cause), cause)
  }
}

function unwritable(seen: string, cause?: unknown): Fault {
  const message = `Cannot write to the folder of objects: ${seen}. Check the disk, its free space and the rights on the folder.`
  return new Fault('Unavailable', 'object_store_unavailable', message, { cause })
}

async function compute(isolate: Isolate): Promise<void> {
  const answer = await isolate.run('transform', { program: '6 * 7', input: {} }, { ms: 10_000, mb: 64 })
  if (answer.ok && answer.value === 42) return
  throw new Fault('Unavailable', 'isolate_failed', answer.ok ? 'It computed something else.' : answer.message)
}
