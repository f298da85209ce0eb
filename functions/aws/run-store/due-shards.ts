/** Index 2 has one partition a shard, so that many runs can be rescheduled at once. */
export const DUE_SHARDS: readonly string[] = Array.from({ length: 8 }, (_, i) => `DUE#${i}`)

/** The shard of a run, by the last character of its id: those are random. */
export function dueShard(run_id: string): string {
  return DUE_SHARDS[run_id.charCodeAt(run_id.length - 1) % DUE_SHARDS.length] ?? ''
}
