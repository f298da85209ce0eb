import { signal } from '@preact/signals'

/** What is shown, as the part of the address behind `#`: every view can be linked to, and any static server serves it. */
interface Route {
  /** `/runs/run_x/graph`, without the `#`. */
  readonly path: string
  /** `path` cut at its slashes, decoded: `['runs', 'run_x', 'graph']`. */
  readonly parts: readonly string[]
  readonly query: Readonly<Record<string, string>>
}

/** The route shown now; it follows the address. */
export const route = signal<Route>(readRoute(location.hash))

addEventListener('hashchange', () => {
  route.value = readRoute(location.hash)
})

/** The address of a view: `hrefOf(['runs', id, 'graph'], { block: 'plan' })`. Members that are undefined are left out. */
export function hrefOf(parts: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`
  return `#/${parts.map(encodeURIComponent).join('/')}${search}`
}

/** Changes members of the query, undefined removes one. `replace` leaves no step in the history (sliders, filters). */
export function changeQuery(change: Readonly<Record<string, string | undefined>>, replace = true): void {
  const { parts, query } = route.value
  const href = hrefOf(parts, { ...query, ...change })
  if (href === location.hash) return
  if (replace) history.replaceState(null, '', href)
  else history.pushState(null, '', href)
  route.value = readRoute(location.hash)
}

function readRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#/, '').split('?', 2)
  const parts = path.split('/').filter((part) => part !== '')
  return { path, parts: parts.map(decode), query: Object.fromEntries(new URLSearchParams(search)) }
}

/** An address somebody typed may hold any percent sign. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
