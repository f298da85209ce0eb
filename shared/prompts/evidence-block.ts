import { fenced } from './fenced.ts'

/** Evidence as data: `[n]` and a JSON text a line, so that no item can end its line or start another. */
export function evidenceBlock(evidence: readonly { readonly text: string }[]): string {
  if (evidence.length === 0) return 'There is no evidence.'
  const lines = evidence.map(({ text }, place) => `[${place + 1}] ${JSON.stringify(text)}`)
  return `Evidence:\n${fenced(lines.join('\n'))}`
}
