/** null = no price is known; with the tokens that are without one. */
export function usdWords(usd: number | null | undefined, unpriced_tokens = 0): string {
  if (usd === null || usd === undefined) return 'unknown price'
  if (unpriced_tokens === 0) return dollars(usd)
  const tokens = `${unpriced_tokens.toLocaleString('en')} token${unpriced_tokens === 1 ? '' : 's'}`
  return `${dollars(usd)} and ${tokens} of unknown price`
}

export function bytesWords(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`
  return bytes < 1_048_576 ? `${(bytes / 1_024).toFixed(1)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`
}

/** What a model read and wrote. */
export function tokensWords(tokens_in = 0, tokens_out = 0): string {
  return `${tokens_in.toLocaleString('en')} in, ${tokens_out.toLocaleString('en')} out`
}

function dollars(usd: number): string {
  return usd === 0 ? '$0' : `$${usd.toFixed(usd < 0.01 ? 6 : 4).replace(/(\.\d{4})0+$/, '$1')}`
}

/** `2.4 s`, `3 min 05 s`, `2 h 10 min`. */
export function durationWords(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  const sec = ms / 1_000
  if (sec < 60) return `${sec.toFixed(1)} s`
  const min = Math.floor(sec / 60)
  if (min < 60) return `${min} min ${String(Math.floor(sec % 60)).padStart(2, '0')} s`
  const hours = Math.floor(min / 60)
  return hours < 48
    ? `${hours} h ${String(min % 60).padStart(2, '0')} min`
    : `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** Local time of the reader, to the second; the whole moment in UTC belongs into `title`. */
export function timeOfDayWords(at: string): string {
  return new Date(at).toLocaleTimeString(undefined, { hour12: false })
}

export function momentWords(at: string): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium', hour12: false })
}

/** `just now`, `40 s ago`, `3 min ago`, `2 h ago`, `in 5 min`; both in ms since 1970. */
export function agoWords(at: number, now: number): string {
  const passed = now - at
  if (Math.abs(passed) < 1_000) return 'just now'
  return passed > 0 ? `${coarse(passed)} ago` : `in ${coarse(-passed)}`
}

/** One unit: what changes each second is read by nobody. */
function coarse(ms: number): string {
  const sec = Math.floor(ms / 1_000)
  if (sec < 60) return `${sec} s`
  if (sec < 3_600) return `${Math.floor(sec / 60)} min`
  return sec < 172_800 ? `${Math.floor(sec / 3_600)} h` : `${Math.floor(sec / 86_400)} d`
}

/** A sentence of the server with its moments (ISO, UTC) in the reader's time; those of today without the day. */
export function localTimes(sentence: string, now: number): string {
  const today = new Date(now).toDateString()
  return sentence.replace(MOMENT, (at) =>
    new Date(at).toDateString() === today ? timeOfDayWords(at) : momentWords(at),
  )
}

const MOMENT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z/g

/** `sent back once`, `sent back 3 times`: how often a gate put a block back to its beginning. */
export function sentBackWords(epoch: number): string {
  return epoch === 1 ? 'sent back once' : `sent back ${epoch} times`
}
