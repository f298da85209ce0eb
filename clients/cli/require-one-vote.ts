import type { Dag } from '../../shared/dag/dag.ts'
import { Refused } from './refused.ts'

/** Said before anything is started: --yes is one voice, that of who started the run. */
export function requireOneVote({ blocks }: Pick<Dag, 'blocks'>, command: string): void {
  const [first] = blocks.flatMap(({ id, approval }) => {
    if (approval === undefined) return []
    const { quorum, self_approval } = approval
    if (quorum > 1) return [`block "${id}" waits for ${quorum} people (quorum), and --yes is one of them`]
    return self_approval ? [] : [`block "${id}" may not be approved by who started the run (self_approval: false)`]
  })
  if (first === undefined) return
  const how = `Start it without --yes at a place others reach too (${command} start); each of them decides with ${command} run approve RUN, on the console or in Slack.`
  throw new Refused({ code: 'yes_is_not_enough', detail: `Cannot start with --yes: ${first}. ${how}` }, { exitCode: 2 })
}
