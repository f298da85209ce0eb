import type { DatabaseSync } from 'node:sqlite'
import { FUNCTIONS } from '../../shared/catalog.ts'
import { bindPlaceholders } from '../../shared/compile/bind-placeholders.ts'
import type { Health } from '../../shared/ports/health.ts'
import type { Clock, Log } from '../../shared/ports/host.ts'
import type { Provider } from '../../shared/providers/provider.ts'
import { OUTBOX_GRACE_MS } from '../../shared/runs/head.ts'
import type { Execution } from '../../shared/runs/machine.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import type { Json } from '../../shared/text/json.ts'
import type { World } from '../../shared/world.ts'
import { createLocalMachine } from './asl/local-machine.ts'
import { createSqliteJournal } from './asl/sqlite-journal.ts'
import { isCommitDue, transaction } from './database.ts'
import { openHealth } from './health.ts'
import { createHost, type Host } from './host.ts'
import { createOutbox } from './outbox.ts'
import { createSlack, createTelemetry } from './ports-with-keys.ts'
import { endStreamLeases } from './run-store/tenant-items.ts'
import type { PlaceAddress } from './waits.ts'
import { createIds, createPorts } from './world-ports.ts'

const SET_ASIDE = 'run set aside: its rows in the journal are damaged; `sluice doctor` names them'
const RECORDED: ReadonlySet<string> = new Set(['run-block', 'wait-join', 'settle'])
/** More are left to the sweep. */
const MOST_OWED = 1_000
/** What the end of a place waits for a collector. */
const LAST_FLUSH_MS = 2_000

interface EngineParts {
  readonly settings: Settings
  readonly db: DatabaseSync
  readonly clock: Clock
  readonly log: Log
  readonly providers: Readonly<Record<string, Provider>>
  readonly keys: ReadonlyMap<string, string>
  /** Filled in when the place listens. */
  readonly address: PlaceAddress
  /** What is wrong with the files of a project that somebody watches. */
  readonly project?: Health['project']
}

/** The World of this place, the host of its handlers, and the machine between the two. */
interface AssembledWorld {
  readonly world: World
  readonly host: Host
  /** Takes up what an earlier process left unfinished. */
  resume(): Promise<number>
  /** Lets go of executions (the journal keeps them) and waits for effects under way. */
  close(): Promise<void>
}

/** Ties World, host and machine together: handlers get the World, whose machine and outbox call handlers. */
export async function assembleLocalWorld(parts: EngineParts): Promise<AssembledWorld> {
  const { db, clock, log } = parts
  const ids = createIds()
  const host = createHost(() => world)
  const invoke = (name: string, payload: unknown) => host.invoke(name, payload)
  const outbox = createOutbox(invoke, log)
  const telemetry = await createTelemetry({ ...parts, ids })
  const { ports, close } = createPorts({ ...parts, ids, outbox, invoke, telemetry })
  const telling = new Set<Promise<unknown>>()
  const journal = createSqliteJournal(db)
  const machine = createLocalMachine({
    // Handlers answer JSON, as Lambda demands of them.
    invoke: (name, payload, signal) => host.invoke(name, payload, { signal }) as Promise<Json>,
    native: (call, signal) => ports.steps.call(call, signal),
    clock,
    ids,
    journal,
    bind: (text) => bindPlaceholders(text, NAMES),
    needed: () => machinesNamed(db),
    // It is answered by the end of a block of the same run.
    keepsToken: (name) => name === 'wait-join',
    // Each looks first at what is recorded of its block or its run, and answers that (docs/architecture.md, "Lanes and ordinals").
    knowsAgain: (name) => RECORDED.has(name),
    commitWaits: () => isCommitDue(db),
    endsLater: true,
    onAside: (name, seen) => log.error(SET_ASIDE, { run_id: name, seen }),
    onEnd: (name, execution, input) => {
      log.info('run ended', { run_id: name, execution: execution.status })
      const told: Promise<unknown> = tellReconcile(host, { name, execution, input })
        .catch((error: unknown) => {
          log.error('end of an execution not followed', { run_id: name, error: String(error) })
        })
        .finally(() => telling.delete(told))
      telling.add(told)
    },
  })
  const health = openHealth({
    db,
    folder: parts.settings.data_dir,
    isolate: ports.isolate,
    journal,
    clock,
    project: parts.project,
  })
  const world: World = { ...ports, health, machine, slack: createSlack(parts.settings, parts.keys) }
  return {
    world,
    host,
    async resume() {
      endStreamLeases(db)
      const taken = await machine.resume()
      await nudgeOwed(world, outbox)
      return taken
    },
    async close() {
      try {
        await machine.close()
      } finally {
        await outbox.settled()
        await Promise.all(telling)
        await telemetry?.flush(LAST_FLUSH_MS)
        await close()
      }
    },
  }
}

/** What an earlier process owed when it died is done now, not when its time of grace is over. */
async function nudgeOwed({ runs, clock }: World, outbox: ReturnType<typeof createOutbox>): Promise<void> {
  const grace = new Date(clock.now() + OUTBOX_GRACE_MS).toISOString()
  for (const run of await runs.due(grace, MOST_OWED)) await outbox.nudge(run)
}

/** A run that stands in the queue, or whose start is owed, has no execution yet. */
function machinesNamed(db: DatabaseSync): ReadonlySet<string> {
  // Also of runs that were made in this moment.
  transaction(db, () => undefined)
  const rows = db.prepare(
    `SELECT DISTINCT CASE WHEN json_valid(body) THEN body ->> '$.machine' END AS machine
     FROM metas JOIN runs USING (run) WHERE state = 'running'`,
  )
  return new Set(rows.all().map(({ machine }) => String(machine)))
}

/** What a machine calls its functions by, here: their names. */
const NAMES = Object.fromEntries(
  FUNCTIONS.flatMap(({ placeholder, name }) => (placeholder === undefined ? [] : [[placeholder, name]])),
)

interface Ended {
  readonly name: string
  readonly execution: Execution
  readonly input: Json
}

/** The local twin of Step Functions' status-change rule: the same function is told of an execution that did not succeed. */
async function tellReconcile(host: Host, { name, execution: { status }, input }: Ended): Promise<void> {
  if (status === 'SUCCEEDED') return
  await host.invoke('reconcile', { detail: { name, status, input: JSON.stringify(input) } })
}
