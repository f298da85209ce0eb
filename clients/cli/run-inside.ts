import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ChosenDocument } from './choose-document.ts'
import { refuseUnknown } from './refuse-unknown.ts'
import { Refused } from './refused.ts'
import type { Session } from './session.ts'
import { type StartHow, startAndWatch } from './start-run.ts'
import { withPlace } from './with-place.ts'
import { count } from './words.ts'

/**
 * No server was there and none was named: the place runs inside this command, on a port of its own, until the run
 * has ended. Runs and objects stay in the data folder; `sluice start` there goes on with whatever is left. A document
 * with errors is refused before there is a data folder.
 */
export async function runInside(session: Session, { body, errors = [] }: ChosenDocument, how: StartHow): Promise<void> {
  if (errors.length > 0) {
    const detail = `Cannot start: the DAG has ${count(errors.length, 'error')}.`
    throw new Refused({ code: 'invalid_dag', detail, errors })
  }
  refuseUnknown(body)
  // An example finds the agents and gates it needs where a folder says nothing of its own.
  const example = 'example' in body && !existsSync('sluice.yaml')
  await withPlace({ port: 0, example, logs: session.settings.logs }, async ({ target, dataDir, signal }) => {
    const inside = { dataDir, artifactsDir: join(dataDir, 'artifacts') }
    process.exitCode = (await startAndWatch(session, target, { ...how, signal, inside })).exitCode
  })
}
