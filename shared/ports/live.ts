/** Whose run it is, as the stores name it. */
interface RunOf {
  readonly tenant: string
  readonly run_id: string
}

/** Who speaks: one question of one attempt of a block, or of an item of it. */
export interface Speaker {
  /** As `laneKey` writes it. */
  readonly lane: string
  readonly block_id: string
  readonly item?: number
  readonly epoch: number
  readonly attempt: number
  /** A repair of an answer, and another provider that is asked, is another question. */
  readonly question: number
}

/** What a model has said so far of an answer that is not finished. */
export interface LiveText extends Speaker {
  /** Characters before `text` that are not kept any more. */
  readonly from: number
  readonly text: string
}

export interface Speech {
  add(piece: string): void
  /** From here on it is the record that says what came. Never throws. */
  end(): Promise<void>
}

/**
 * What models are saying now, for whoever reads the events of the run: no part of its record. Nobody who speaks is held up,
 * whoever listens; what cannot be kept is lost without a word.
 */
export interface Live {
  speak(run: RunOf, speaker: Speaker): Speech
  /** Answers under way, the last characters of each. */
  heard(run: RunOf): Promise<readonly LiveText[]>
  /** Resolves when something may have been said in the run, or the signal aborts. */
  said(run: RunOf, signal: AbortSignal): Promise<void>
}

/** Characters of an answer that are kept while it is said, where memory holds them. */
const LIVE_KEPT = 16_384

/** `before` with a piece more, of which the last `kept` characters stay. */
export function withPiece({ from, text }: Pick<LiveText, 'from' | 'text'>, piece: string, kept = LIVE_KEPT) {
  const whole = text + piece
  const dropped = Math.max(0, whole.length - kept)
  return { from: from + dropped, text: dropped === 0 ? whole : whole.slice(dropped) }
}
