/** What only one worker at a time may do. Names are hashed by the store: they may be anything. */
export interface TurnName {
  readonly tenant: string
  readonly name: string
}

/** Turns end by themselves, so a worker that died keeps nobody waiting for longer than it asked for. */
export interface Turns {
  /** ONE conditional write: true when `by` has the turn until then, because nobody has it at `now` (both ISO times). */
  takeTurn(of: TurnName, by: string, now: string, until: string): Promise<boolean>
  /** Only one's own. */
  endTurn(of: TurnName, by: string): Promise<void>
}
