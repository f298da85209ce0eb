import { Fault } from '../../../shared/errors.ts'
import type { Slack } from '../../../shared/slack/slack-port.ts'
import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const noteDropped: Mutant = {
  name: 'note-dropped',
  what: 'what Slack refuses with 429 is not told again',
  world(world, name) {
    const { slack } = name === 'slack-work' ? world : {}
    if (slack === undefined) return world
    const call: Slack['call'] = (method, args) =>
      slack.call(method, args).catch((error: unknown) => {
        if (error instanceof Fault && error.facts.retry_after_ms !== undefined) return {}
        throw error
      })
    return withPorts(world, { slack: { ...slack, call } })
  },
}
