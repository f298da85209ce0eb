import type * as z from 'zod'
import { WEBHOOK_ROUTES } from '../../shared/api/webhook-routes.ts'
import { callApi, type Target } from './api.ts'

/** A newer server may say more. */
const AnswerSchema = WEBHOOK_ROUTES['list-dead-webhooks'].answer.loose()
export type DeadPage = z.output<typeof AnswerSchema>

interface DeadQuery {
  readonly endpoint?: string
  readonly delivered?: 'true'
  readonly limit?: number
  readonly cursor?: string
}

/** One page of the messages nobody took. */
export function fetchDeadWebhooks(target: Target, query: DeadQuery): Promise<DeadPage> {
  return callApi(target, AnswerSchema, (api) => api.GET('/api/webhooks/dead', { params: { query } }))
}
