/** What route_search can decide; a closed list. */
export const ROUTE_ACTIONS = ['synthesize_directly', 'retighten', 'walk_seeds', 'decompose'] as const

export type RouteAction = (typeof ROUTE_ACTIONS)[number]

export function isValidRouteAction(word: string): word is RouteAction {
  return (ROUTE_ACTIONS as readonly string[]).includes(word)
}
