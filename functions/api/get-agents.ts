import { PLACE_ROUTES } from '../../shared/api/place-routes.ts'
import { httpHandler } from '../http-handler.ts'

export const handler = httpHandler({
  name: 'get-agents',
  schema: PLACE_ROUTES['get-agents'],
  run: (_call, world) => ({
    json: {
      agents: Object.entries(world.settings.agents).map(([name, { role, provider, model, capabilities }]) => ({
        name,
        role,
        provider,
        model,
        capabilities: capabilities ?? [],
      })),
      providers: [...world.providers.names()],
    },
  }),
})
