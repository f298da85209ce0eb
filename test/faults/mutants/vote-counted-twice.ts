import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const voteCountedTwice: Mutant = {
  name: 'vote-counted-twice',
  what: 'who approves through the API and in Slack is counted as two people',
  world(world, name) {
    const { settings } = world
    if (name !== 'slack-work' || settings.slack === undefined) return world
    return withPorts(world, { settings: { ...settings, slack: { ...settings.slack, users: {} } } })
  },
}
