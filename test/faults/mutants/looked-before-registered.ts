import type { OutsideEvent } from '../../../shared/runs/outside-event.ts'
import { topicText, type WaitStore } from '../../../shared/runs/wait-store.ts'
import type { World } from '../../../shared/world.ts'
import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const lookedBeforeRegistered: Mutant = {
  name: 'looked-before-registered',
  what: 'a wait looks at the events that are kept first, and is registered after that',
  world(world, name) {
    if (name !== 'open-wait') return world
    const { runs, waits } = world
    const seen = new Map<string, readonly OutsideEvent[]>()
    const append: World['runs']['append'] = async (step) => {
      for (const { type, data } of step.events) {
        if (type !== 'block:waiting' || data.name === undefined) continue
        const topic = { tenant: step.run.tenant, name: data.name, key: data.key }
        const now = new Date(world.clock.now()).toISOString()
        seen.set(topicText(topic), (await waits.keptEvents(topic, { now, limit: 1_000 })).events)
      }
      return runs.append(step)
    }
    const keptEvents: WaitStore['keptEvents'] = async (topic, part) => {
      const before = seen.get(topicText(topic))
      seen.delete(topicText(topic))
      return before === undefined ? waits.keptEvents(topic, part) : { events: before }
    }
    return withPorts(world, { runs: { ...runs, append }, waits: { ...waits, keptEvents } })
  },
}
