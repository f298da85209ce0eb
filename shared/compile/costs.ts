/** A Parallel is one more transition and four more events. */
export const PARALLEL_COST = 1
/** A join is one more transition too, but six events and two calls: of equals the Parallel wins. */
export const JOIN_COST = 1.05
/** A signal is one more set update in the store beside a whole state. */
export const SIGNAL_COST = 0.02
