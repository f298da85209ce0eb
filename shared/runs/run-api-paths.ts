/** Where the parts of a run are found, as paths of the API. */
export function runApiPaths(runId: string): Record<string, string> {
  const self = `/api/dag/runs/${runId}`
  return {
    self,
    events: `${self}/events`,
    replay: `${self}/replay`,
    context: `${self}/context`,
    artifacts: `${self}/artifacts`,
    approvals: `${self}/approvals`,
    stop: `${self}/stop`,
  }
}
