import { promptRoom } from '../../shared/research/prompt-room.ts'
import { rankByCosine } from '../../shared/research/rank-by-cosine.ts'
import { embedOnce, estimateEmbedding, tokensOf } from './embed-once.ts'
import type { Found } from './found-entity.ts'
import { meterCall } from './meter-call.ts'
import { roomFor } from './room-for.ts'
import type { StageCall } from './stage-call.ts'

/** What words found, ranked by meaning. */
export interface NearInMeaning {
  /** Lexical hits that are looked at. */
  readonly most: number
  /** One at a time: each sets tokens of the run aside. `degraded`: why there is no ranking. */
  rank(text: string, found: readonly Found[]): Promise<Ranking>
}

interface Ranking {
  readonly found: readonly Found[]
  readonly degraded?: string
}

/** Of a text that is embedded: a label and a preview. */
const MOST_CHARACTERS = 1_000
/** One hit alone is not ranked. */
const LEAST_HITS = 2

/** By the embeddings of the settings; undefined = they name none, and all is as without them. */
export function nearInMeaning(call: StageCall): NearInMeaning | undefined {
  const { embeddings } = call.world.settings.research
  if (embeddings === undefined) return undefined
  return {
    most: embeddings.hits,
    async rank(text, found) {
      if (found.length < LEAST_HITS) return { found: [] }
      const question = text.slice(0, MOST_CHARACTERS)
      const { keep, data } = promptRoom('route_search', 0, roomFor(call))
      const looked = fitting(found.slice(0, embeddings.hits), data - tokensOf(question))
      if (looked.length < LEAST_HITS) return { found: [], degraded: 'hits were not embedded: budget' }
      const texts = [question, ...looked.map(textOf)]
      const reply = await meterCall(call, {
        estimate: () => estimateEmbedding(call, embeddings, texts),
        keep,
        once: (ms) => embedOnce(call, embeddings, texts, ms),
      })
      if (reply.kind === 'skipped') return { found: [], degraded: `hits were not embedded: ${reply.why}` }
      if (reply.kind === 'failed') return { found: [], degraded: `the embedding failed: ${reply.fault.code}` }
      const [wanted = [], ...vectors] = reply.value.vectors
      return { found: ranked(looked, wanted, vectors) }
    },
  }
}

/** As many as there is room for, best first. */
function fitting(found: readonly Found[], tokens: number): readonly Found[] {
  let room = tokens
  const end = found.findIndex((one) => {
    room -= tokensOf(textOf(one))
    return room < 0
  })
  return end < 0 ? found : found.slice(0, end)
}

/** The last segment of its id says something where it has neither label nor preview. */
function textOf({ label, evidence }: Found): string {
  const said = [label, evidence.snippet_text].filter((text) => text !== undefined && text.trim() !== '')
  return (said.length > 0 ? said.join('\n') : (evidence.entity_id.split('.').at(-1) ?? '')).slice(0, MOST_CHARACTERS)
}

function ranked(
  found: readonly Found[],
  wanted: readonly number[],
  vectors: readonly (readonly number[])[],
): readonly Found[] {
  return rankByCosine(wanted, vectors).flatMap(({ at, cosine }) => {
    const one = found[at]
    if (one === undefined) return []
    return [{ ...one, evidence: { ...one.evidence, tier: '1', source: 'embedding', score: cosine } as const }]
  })
}
