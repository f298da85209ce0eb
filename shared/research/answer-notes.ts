/** What the extractive model says of itself below every answer. */
export const EXTRACTIVE_NOTE =
  'Note: put together from quotations and facts by the extractive model; no language model wrote it.'

/** Below an answer of several things that fit a description: only the evidence was looked at. */
export const MORE_MAY_FIT = 'Note: only the evidence found was looked at; more may fit.'

/** What stands above the first items of evidence where an answer cites none. */
export const NONE_QUOTED = 'Note: the synthesizer quoted none of the evidence; these are its first items.'
