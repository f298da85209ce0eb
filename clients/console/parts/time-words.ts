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
export function timeWords(at: string): string {
  return new Date(at).toLocaleTimeString(undefined, { hour12: false })
}

export function momentWords(at: string): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium', hour12: false })
}
