import { askPerson } from './ask-person.ts'
import type { BlockCall } from './block-call.ts'
import type { Failure, Recorded } from './end-attempt.ts'
import { failFast } from './fail-fast.ts'
import { retryBlock } from './retry-block.ts'

/** A retry leaves through the machine's Wait (short delays are slept at the next start), a question through its wait for an answer; fail_fast ends the run. */
export async function whenNotDone(call: BlockCall, recorded: Recorded, failure: Failure | undefined): Promise<void> {
  if (recorded.state === 'retrying') {
    const rest = Date.parse(recorded.due_at ?? '') - call.world.clock.now()
    if (rest > 0 && rest < 1_000) await call.world.clock.delay(rest)
    throw retryBlock(call, rest < 1_000 ? 0 : Math.ceil(rest / 1_000))
  }
  if (recorded.state === 'asked') throw askPerson(call)
  if (recorded.state === 'failed' && failure !== undefined) await failFast(call, failure)
}
