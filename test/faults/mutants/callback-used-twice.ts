import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const callbackUsedTwice: Mutant = {
  name: 'callback-used-twice',
  what: 'the answer to a callback is taken though it was answered before',
  world(world, name) {
    if (name !== 'answer-callback') return world
    const { waits } = world
    return withPorts(world, {
      waits: {
        ...waits,
        callback: async () => undefined,
        async keepCallback(run, of, answer) {
          await waits.keepCallback(run, of, answer)
          return answer
        },
      },
    })
  },
}
