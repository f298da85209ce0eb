import { FUNCTIONS, type FunctionLine, ROUTES } from '../../shared/catalog.ts'

/** Which stack a function is in, and why. */
export type Placement = 'machine' | 'unseen' | 'called' | 'route'

export function functionsAt(placement: Placement): readonly FunctionLine[] {
  return FUNCTIONS.filter((line) => placementOf(line) === placement)
}

/**
 * `machine`: a machine calls it. `unseen`: it is invoked asynchronously, so it has dead letters; start-run too, which
 * send-outbox invokes and which must stand beside the machines whose versions it is told. `called`: other functions call it
 * and wait. `route`: the rest.
 */
function placementOf({ name, placeholder, ports, serves }: FunctionLine): Placement {
  if (serves !== undefined) return 'called'
  if (placeholder !== undefined) return 'machine'
  const hasRoute = ROUTES.some((route) => route.name === name)
  return hasRoute && !ports.includes('machine') ? 'route' : 'unseen'
}
