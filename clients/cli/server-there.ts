import * as z from 'zod'
import { callApi, type Target } from './api.ts'
import { Refused } from './refused.ts'

/** Whether a Sluice server is there, however well it is, and answers this caller; whatever else may listen is none. */
export async function isServerThere(target: Target): Promise<boolean> {
  return (await knock(target)) === 'answers'
}

/** `answers`; or why not: it lets nobody in without another credential, or there is none. */
export async function knock(target: Target): Promise<'answers' | Refused> {
  const health = z.looseObject({ status: z.literal(['ok', 'degraded']) })
  const signal = AbortSignal.timeout(2_000)
  return await callApi(target, health, (api) => api.GET('/api/health', { signal })).then(
    () => 'answers' as const,
    (error: unknown) => {
      if (!(error instanceof Refused)) return new Refused({ code: 'no_server', detail: String(error) })
      // It says that it can start nothing: it is there, and what is asked of it next says why.
      return error.reason.code === 'place_unable' ? 'answers' : error
    },
  )
}
