import type { generatedGraph } from './generated-graph.ts'

/** Questions of one kind. */
export interface QuestionKind {
  readonly name: string
  make(): string
}

/**
 * What is asked of the generated graph: things by name, what a relation leads to from a name, over two relations, and
 * words without a name, which may stand together anywhere or nowhere.
 */
export function questionKinds(
  { text, relations: [first, second] }: ReturnType<typeof generatedGraph>,
  labels: readonly string[],
): readonly QuestionKind[] {
  let asked = 0
  // Spread over the graph by a step that has no divisor in common with round numbers.
  const label = () => labels[(asked++ * 7_919) % labels.length]
  return [
    { name: 'a thing by name', make: () => `What is ${label()}?` },
    { name: 'one relation', make: () => `What is the ${first} of ${label()}?` },
    { name: 'two relations', make: () => `What is the ${first} of what is the ${second} of ${label()}?` },
    { name: '6 words', make: () => `What is said of ${text(6)}?` },
    { name: '12 words', make: () => `What is said of ${text(12)}?` },
  ]
}
