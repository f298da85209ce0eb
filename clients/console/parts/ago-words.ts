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
