import type { Ask } from './api.ts'

/** The body of one artifact. */
export function askArtifact(run_id: string, name: string): Ask {
  return (api) => api.GET('/api/dag/runs/{run_id}/artifacts/{name}', { params: { path: { run_id, name } } })
}
