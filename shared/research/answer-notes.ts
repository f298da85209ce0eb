/** What the extractive model says of itself below every answer. */
export const EXTRACTIVE_NOTE =
  'Note: put together from quotations and facts by the extractive model; no language model wrote it.'

/** Below an answer of several things that fit a description: only the evidence was looked at. */
export const MORE_MAY_FIT = 'Note: only the evidence found was looked at; more may fit.'

/** What stands above the first items of evidence where an answer cites none. */
export const NONE_QUOTED = 'Note: the synthesizer quoted none of the evidence; these are its first items.'

/** Stands before a sentence that stays although it is unsupported. No citation: those are in square brackets. */
export const UNSUPPORTED_MARK = '(unsupported)'

export function referencesNote(count: number): string {
  return `Note: ${count} references were taken out: they name no evidence.`
}

export function takenNote(count: number): string {
  return `Note: ${count} sentences were taken out: the evidence they cite does not say them.`
}

export function markedNote(count: number): string {
  return `Note: ${count} sentences are marked ${UNSUPPORTED_MARK}: no evidence they cite says them.`
}

/** Below an answer that the judge of the settings could not look at: it stands as the rules let it stand. */
export const NOT_JUDGED = 'Note: the judge could not look at this answer; it stands as the rules let it stand.'

/** Below one of those two: sentences the rules let stand and the judge of the settings did not. */
export function doubtedNote(count: number): string {
  return `Note: ${count} of them were doubted by the judge alone.`
}

/** Whether a line is one of these four, or what earlier versions wrote for the second. */
export function isCountNote(line: string): boolean {
  const [said, digits] = /^Note: (\d{1,6}) /.exec(line) ?? []
  if (said === undefined) return false
  const count = Number(digits)
  const earlier = `Note: ${count} sentences were taken out: their quotations or numbers are not in the evidence they cite.`
  return [referencesNote(count), takenNote(count), markedNote(count), doubtedNote(count), earlier].includes(line)
}
