import { linearPattern } from '../gates/linear-pattern.ts'

/** Tells whether a whole text fits a pattern in which `*` alone is special: any characters, none too. Takes linear time. */
export function wildcardMatcher(pattern: string): (text: string) => boolean {
  const parts = pattern.split('*').map(literalPattern)
  const compiled = linearPattern(`^${parts.join('.*')}$`, 's')
  return (text) => compiled.ok && compiled.pattern.test(text)
}

/** A text as a pattern that means itself. */
export function literalPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, (character) => `\\${character}`)
}
