import type { Block } from '../../../../shared/dag/dag.ts'
import type { SentenceFinding } from '../../../../shared/research/claims/check-synthesis.ts'
import { referencesIn } from '../../../../shared/research/claims/evidence-references.ts'
import type { Evidence } from '../../../../shared/research/payloads/candidate-and-evidence.ts'
import { citationsIn } from '../../../../shared/text/citations.ts'
import type { operations } from '../../../api/schema.generated.ts'

export type ResearchAnswer = operations['get-research']['responses'][200]['content']['application/json']

/** A research run that can be looked at from here. */
export interface ResearchRun {
  readonly run_id: string
  /** The block that asked; undefined: the run itself is the research. */
  readonly block: string | undefined
}

interface Asked {
  readonly run: { readonly run_id: string; readonly role: string }
  /** Of the document, in its order. */
  readonly definitions: readonly Pick<Block, 'id' | 'mode'>[]
  readonly blocks: Readonly<Record<string, { readonly child?: string }>>
}

/** The run itself where it is a research run, else the children its research blocks asked. */
export function researchRuns({ run, definitions, blocks }: Asked): readonly ResearchRun[] {
  if (run.role === 'research_pipeline') return [{ run_id: run.run_id, block: undefined }]
  return definitions.flatMap(({ id, mode }) => {
    const child = mode === 'research' && Object.hasOwn(blocks, id) ? blocks[id]?.child : undefined
    return child === undefined ? [] : [{ run_id: child, block: id }]
  })
}

/** What was found wrong with a sentence, each in words; none of one that is quoted or supported. */
export function faultWords({
  places,
  unknown_refs,
  bad_quotes,
  bad_numbers,
  status,
}: SentenceFinding): readonly string[] {
  const isPlain = places.length > 0 && unknown_refs.length + bad_quotes.length + bad_numbers.length === 0
  return [
    ...(status === 'unsupported' && isPlain ? ['no one passage of what it cites says it in these words'] : []),
    ...(places.length === 0 && unknown_refs.length === 0 ? ['it cites nothing'] : []),
    ...unknown_refs.map((ref) => `${ref} is no evidence of this answer`),
    ...bad_quotes.map(({ quote, verdict }) => `“${quote}” ${QUOTE_WORDS[verdict]}`),
    ...bad_numbers.map((number) => `${number} does not occur in what it cites`),
  ]
}

const QUOTE_WORDS = {
  found: 'stands there',
  cut: 'stands there only right behind what denies it',
  misattributed: 'stands in other evidence than it cites',
  frankenquote: 'is put together from several places',
  not_found: 'does not stand in the evidence',
} as const

/** A text with its citations apart: `place` from 1 for those that name evidence. */
type TextPart = string | { readonly ref: string; readonly place: number | undefined }

export function citedParts(text: string, evidence: readonly Evidence[]): readonly TextPart[] {
  const parts: TextPart[] = []
  let from = 0
  for (const { ids, at, end } of citationsIn(text)) {
    parts.push(text.slice(from, at))
    for (const id of ids) parts.push(referencesIn(`[${id}]`, evidence)[0] ?? `[${id}]`)
    from = end
  }
  return [...parts, text.slice(from)].filter((part) => part !== '')
}
