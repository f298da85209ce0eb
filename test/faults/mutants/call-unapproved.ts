import type { Mutant } from '../mutant.ts'
import { withTools } from './other-tools.ts'

export const callUnapproved: Mutant = {
  name: 'call-unapproved',
  what: 'a call whose tool asks a person is made without',
  world: (world, name) => withTools(world, name, ({ approval: _, ...tool }) => tool),
}
