import { Fault } from '../../shared/errors.ts'
import type { Anchor } from '../../shared/runs/anchor.ts'
import { chainOf } from '../../shared/runs/hash-chain.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'

const PAGE = 500

/**
 * What is anchored of an ended run: the closed part of its chain and, where whoever ended it died before closing the rest,
 * the events since. Always the same but for the time: nothing is appended after an end.
 */
export async function anchorOf({ runs, clock }: Pick<World, 'runs' | 'clock'>, run: RunKey): Promise<Anchor> {
  let sealed = await runs.sealed(run)
  const head = await runs.head(run, [])
  if (sealed === undefined || head === undefined || head.state === 'running') {
    throw new Fault('Bug', 'not_ended', `Cannot anchor run "${run.run_id}": it has not ended.`)
  }
  while (sealed.seq < head.seq) {
    const events = await runs.events(run, sealed.seq, PAGE)
    if (events.length === 0) throw new Fault('Bug', 'log_gap', `Run "${run.run_id}" has no event ${sealed.seq + 1}.`)
    // Nothing is closed yet: the chain starts from its own first hash.
    const hash: string = sealed.seq === 0 ? chainOf(events) : chainOf(events, sealed.hash)
    sealed = { seq: sealed.seq + events.length, hash }
  }
  const { tenant, run_id } = run
  const at = new Date(clock.now()).toISOString()
  return { format: 'sluice-anchor/1', tenant, run_id, ...sealed, events: sealed.seq, at }
}
