import { momentWords, timeWords } from './time-words.ts'

/** A sentence of the server with its moments (ISO, UTC) in the reader's time; those of today without the day. */
export function localTimes(sentence: string, now: number): string {
  const today = new Date(now).toDateString()
  return sentence.replace(MOMENT, (at) => (new Date(at).toDateString() === today ? timeWords(at) : momentWords(at)))
}

const MOMENT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z/g
