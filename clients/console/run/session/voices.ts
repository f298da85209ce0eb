/** What a model says before its answer is recorded, as the stream of events tells it (docs/agents.md). */
export interface Delta {
  readonly type: 'block:delta'
  readonly block_id: string
  readonly item?: number
  readonly epoch: number
  readonly attempt: number
  readonly question: number
  /** Characters of the answer before `text`. */
  readonly from: number
  readonly text: string
}

/** What one model has said of an answer under way; `missed`: some of it never came. */
export interface Voice {
  readonly question: string
  readonly text: string
  readonly upTo: number
  readonly missed: boolean
}

/** By block and item: `act.200`. */
export type Voices = ReadonlyMap<string, Voice>

export function voiceKey({
  block_id = '',
  item,
}: {
  readonly block_id?: string | undefined
  readonly item?: number | undefined
}) {
  return `${block_id}.${item ?? ''}`
}

/** Characters that are shown of one that speaks long. */
const MOST = 20_000

export function withDelta(voices: Voices, delta: Delta): Voices {
  const key = voiceKey(delta)
  const question = `${delta.epoch} ${delta.attempt} ${delta.question}`
  const known = voices.get(key)
  const before = known?.question === question ? known : { text: '', upTo: 0, missed: false }
  const text = `${before.text}${delta.text}`.slice(-MOST)
  const missed = before.missed || delta.from > before.upTo || text.length < before.text.length + delta.text.length
  return new Map([...voices, [key, { question, text, upTo: delta.from + delta.text.length, missed }]])
}

const ANSWERED: ReadonlySet<string> = new Set([
  'block:output',
  'block:retrying',
  'block:failed',
  'block:completed',
  'block:cancelled',
])

/** Without those whose answer is recorded, or given up: their events say so. */
export function withoutAnswered(
  voices: Voices,
  events: readonly {
    readonly type: string
    readonly block_id?: string | undefined
    readonly item?: number | undefined
  }[],
): Voices {
  const keys = new Set(events.flatMap((event) => (ANSWERED.has(event.type) ? [voiceKey(event)] : [])))
  const isOver = events.some(({ type }) => /^run:(?!started)/.test(type))
  if (isOver) return new Map()
  return [...voices.keys()].some((key) => keys.has(key))
    ? new Map([...voices].filter(([key]) => !keys.has(key)))
    : voices
}
