import { Fault } from '../../shared/errors.ts'
import { ROUTES, type RouteLine } from '../../shared/routes.ts'

export interface Matched {
  readonly line: RouteLine
  readonly params: Readonly<Record<string, string>> | null
}

/**
 * Finds the route of a request by the catalog. Fixed words win over parameters. Fault 404 route_not_found, 405
 * method_not_allowed with the allowed methods, 400 bad_path when a segment is not valid percent-encoding.
 */
export function matchRoute(method: string, path: string): Matched {
  const segments = path.split('/').slice(1).map(decodeSegment)
  const here = PATTERNS.filter((pattern) => fits(pattern.segments, segments))
  const found = here.find((pattern) => pattern.line.method === method)
  if (found !== undefined) return { line: found.line, params: paramsOf(found.segments, segments) }
  if (here.length === 0) {
    const message = `Cannot find "${path.slice(0, 200)}": no route has this path. GET /api/openapi.json lists them all.`
    throw new Fault('NotFound', 'route_not_found', message)
  }
  const allow = [...new Set(here.map((pattern) => pattern.line.method))].sort()
  const message = `Cannot ${method} "${path.slice(0, 200)}": this path takes ${allow.join(', ')}.`
  throw new Fault('InvalidInput', 'method_not_allowed', message, { status: 405, facts: { allow } })
}

interface Pattern {
  readonly line: RouteLine
  readonly segments: readonly string[]
}

const PATTERNS: readonly Pattern[] = ROUTES.map((line) => ({ line, segments: line.path.split('/').slice(1) })).sort(
  (a, b) => parameterCount(a) - parameterCount(b),
)

function parameterCount({ segments }: Pattern): number {
  return segments.filter(isParameter).length
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{')
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch (cause) {
    const seen = segment.slice(0, 100)
    throw new Fault('InvalidInput', 'bad_path', `Cannot read the path: "${seen}" is not valid percent-encoding.`, {
      cause,
    })
  }
}

function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  const open = pattern.at(-1)?.endsWith('+}') ?? false
  if (open ? segments.length < pattern.length : segments.length !== pattern.length) return false
  return pattern.every((part, at) => (isParameter(part) ? segments[at] !== '' : part === segments[at]))
}

function paramsOf(pattern: readonly string[], segments: readonly string[]): Readonly<Record<string, string>> | null {
  const params: Record<string, string> = {}
  pattern.forEach((part, at) => {
    if (!isParameter(part)) return
    const rest = part.endsWith('+}')
    params[part.slice(1, rest ? -2 : -1)] = rest ? segments.slice(at).join('/') : (segments[at] ?? '')
  })
  return Object.keys(params).length === 0 ? null : params
}
