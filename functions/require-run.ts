import { Fault } from '../shared/errors.ts'
import type { Principal } from '../shared/principal.ts'
import type { Head } from '../shared/runs/head.ts'
import type { RunKey } from '../shared/runs/run-store.ts'
import type { World } from '../shared/world.ts'

/** The run a request names, in the caller's tenant: another tenant's id answers exactly like an unknown one. */
export async function requireRun(
  world: Pick<World, 'runs'>,
  call: { readonly principal: Pick<Principal, 'tenant'>; readonly params: { readonly run_id: string } },
): Promise<{ readonly run: RunKey; readonly head: Head }> {
  const run = { tenant: call.principal.tenant, run_id: call.params.run_id }
  const head = await world.runs.head(run)
  if (head !== undefined) return { run, head }
  const message = `Cannot find run "${run.run_id}": there is no such run. \`sluice run list\` shows the runs there are.`
  throw new Fault('NotFound', 'unknown_run', message)
}
