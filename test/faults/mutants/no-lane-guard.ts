import type { Mutant } from '../mutant.ts'
import { isAppend, sending, unguarded } from './rewriting.ts'

export const noLaneGuard: Mutant = {
  name: 'no-lane-guard',
  what: 'an append does not look whether its step was taken already',
  client: sending((send) => (command) => send(isAppend(command) ? unguarded(command, isLane) : command)),
}

function isLane(path: string): boolean {
  return path.startsWith('lanes.') || /^items\.[^.]+\./.test(path)
}
