import { FUNCTIONS, type FunctionLine } from '../../shared/catalog.ts'
import { ROUTES } from '../../shared/routes.ts'
import type { Chosen } from './access.ts'
import { rightsOf } from './grants.ts'

/** Which stack a function is in, and why. */
export type Placement = 'machine' | 'unseen' | 'called' | 'told' | 'guard' | 'route'

export function functionsAt(placement: Placement): readonly FunctionLine[] {
  return FUNCTIONS.filter((line) => placementOf(line) === placement)
}

/** Whether a deployment has it: what runs commands, writes anchors, talks to Slack or reads bearers stands only where that is asked for. */
export function stands(
  { serves, guards, ports }: FunctionLine,
  { shell, slack, auth, anchors }: Pick<Chosen, 'shell' | 'slack' | 'auth' | 'anchors'>,
): boolean {
  if (guards !== undefined) return auth !== undefined
  if (serves === 'shell') return shell
  if (serves === 'anchor') return anchors === true
  return slack !== undefined || !ports.includes('slack')
}

/**
 * `machine`: a machine calls it. `unseen`: it is invoked asynchronously, so it has dead letters; start-run too, which
 * send-outbox invokes and which must stand beside the machines whose versions it is told. `called`: other functions call it
 * and wait. `told`: a route that is told those versions too. `guard`: API Gateway asks it who calls. `route`: the rest.
 */
function placementOf(line: FunctionLine): Placement {
  if (line.serves !== undefined) return 'called'
  if (line.guards !== undefined) return 'guard'
  if (line.placeholder !== undefined) return 'machine'
  const rights = rightsOf(line)
  const hasRoute = ROUTES.some((route) => route.name === line.name)
  if (!hasRoute || rights.includes('machine.ensure')) return 'unseen'
  return rights.includes('machine.named') || rights.includes('machine.deployed') ? 'told' : 'route'
}
