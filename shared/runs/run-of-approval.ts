/** The run whose approval this is; undefined for what is no approval id. */
export function runIdOfApproval(id: string): string | undefined {
  const run = /^apr_([0-9a-hjkmnp-tv-z]{26})_/.exec(id)?.[1]
  return run === undefined ? undefined : `run_${run}`
}
