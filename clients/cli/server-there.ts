import * as z from 'zod'
import { callApi, type Target } from './api.ts'

/** Whether a Sluice server is there; whatever else may listen on the port is none. */
export async function isServerThere(target: Target): Promise<boolean> {
  const health = z.looseObject({ status: z.literal('ok') })
  const signal = AbortSignal.timeout(2_000)
  return await callApi(target, health, (api) => api.GET('/api/health', { signal })).then(
    () => true,
    () => false,
  )
}
