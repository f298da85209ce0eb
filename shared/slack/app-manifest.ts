/** What the app may do in the workspace: post, update and answer. Opening a modal needs no scope. */
export const SLACK_SCOPES = ['chat:write'] as const

/** Where Slack sends clicks, below the address of a deployment. */
export const INTERACTIONS_PATH = '/api/slack/interactions'

/** The app as Slack's "From a manifest" takes it, for a deployment at this address. */
export function appManifest(url: string) {
  return {
    display_information: {
      name: 'Sluice',
      description: 'Asks people before gated runs go on',
      background_color: '#1f3a4d',
    },
    features: { bot_user: { display_name: 'Sluice', always_online: true } },
    oauth_config: { scopes: { bot: [...SLACK_SCOPES] } },
    settings: {
      interactivity: { is_enabled: true, request_url: `${url.replace(/\/+$/, '')}${INTERACTIONS_PATH}` },
      org_deploy_enabled: false,
      socket_mode_enabled: false,
      token_rotation_enabled: false,
    },
  }
}
