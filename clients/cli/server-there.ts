import * as z from 'zod'
import { callApi, type Target } from './api.ts'
import { Refused } from './refused.ts'

/** Whether a Sluice server is there, however well it is; whatever else may listen on the port is none. */
export async function isServerThere(target: Target): Promise<boolean> {
  const health = z.looseObject({ status: z.literal(['ok', 'degraded']) })
  const signal = AbortSignal.timeout(2_000)
  return await callApi(target, health, (api) => api.GET('/api/health', { signal })).then(
    () => true,
    // It says that it can start nothing: it is there, and what is asked of it next says why.
    (error: unknown) => error instanceof Refused && error.reason.code === 'place_unable',
  )
}
