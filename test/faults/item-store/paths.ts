import type { Path } from './operands.ts'
import { invalid } from './refusals.ts'

/** No path of an expression may lead to, or into, what another one names. */
export function requireDisjoint(paths: readonly Path[], expression: string): void {
  const whole = new Set<string>()
  const within = paths.map((path) => path.map((_, i) => textOf(path.slice(0, i + 1))))
  for (const prefixes of within.toSorted((a, b) => a.length - b.length)) {
    if (prefixes.some((prefix) => whole.has(prefix))) {
      const message = `Invalid ${expression}: Two document paths overlap with each other; must remove or rewrite one of these paths`
      throw invalid(message)
    }
    whole.add(prefixes.at(-1) ?? '')
  }
}

function textOf(path: Path): string {
  return path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('\0')
}
