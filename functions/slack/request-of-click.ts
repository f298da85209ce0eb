import type { NotedRequest } from '../../shared/runs/noted-requests.ts'
import type { SlackClick } from '../../shared/slack/read-interaction.ts'

/** What makes two deliveries the same click: its content, never how often Slack says that it sent it. */
export function requestOfClick(tenant: string, click: SlackClick): NotedRequest {
  const { team, user, approval_id, decision, at } = click
  return { tenant, route: 'slack', key: [team, user, approval_id, decision, at].join('|') }
}
