import { Fault } from '../../../shared/errors.ts'
import type { RunKey } from '../../../shared/runs/run-store.ts'

/** Items beside HEAD belong to a run: Fault Bug no_such_run when a writer made one up. */
export function requireRun(run: number | undefined, key: RunKey): number {
  if (run !== undefined) return run
  const message = `Cannot write an item of run "${key.run_id}" of tenant "${key.tenant}": there is no such run. Create it first.`
  throw new Fault('Bug', 'no_such_run', message)
}
