import { answerOf, api } from '../api.ts'
import { polled } from './polled.ts'

/** Whether the place answers, and which version it is. */
export const health = polled(() => answerOf(api.GET('/api/health')), 5_000)

/** Caps with their sources, and whether starts are on hold. */
export const safety = polled(() => answerOf(api.GET('/api/dag/safety')), 10_000)

/** What people are asked now, without the values: the inbox, and the badge in the menu. */
export const pendingApprovals = polled(
  () =>
    answerOf(api.GET('/api/dag/approvals', { params: { query: { status: 'pending', values: 'refs', limit: 100 } } })),
  4_000,
)
