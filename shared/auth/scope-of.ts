import { ROUTES } from '../routes.ts'
import type { Scope } from './scope.ts'

/** What the caller of a route needs; undefined = to be somebody is enough. */
export function scopeOf(route: string): Scope | undefined {
  return NEEDED.get(route)
}

const NEEDED: ReadonlyMap<string, Scope | undefined> = new Map(ROUTES.map(({ name, scope }) => [name, scope]))
