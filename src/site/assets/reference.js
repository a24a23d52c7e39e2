import { setUpHeader } from './header.js';
import { mendWhatIsDrawn } from './mend.js';
import { setUpDrawer } from './navigation.js';
import { part } from './page.js';
import { onReaderChange, reader } from './reader.js';
import { isDark, onThemeChange } from './theme.js';

/**
 * @typedef {{ updateConfiguration(configuration: object): void }} Drawn
 * @typedef {{ createApiReference(place: Element, configuration: object): Drawn }} Scalar
 */

setUpHeader();
setUpDrawer();

const place = part('#reference', HTMLElement);
const { Scalar } = /** @type {Window & { Scalar: Scalar }} */ (/** @type {unknown} */ (window));
const drawn = Scalar.createApiReference(place, configuration());
mendWhatIsDrawn();

onReaderChange(() => drawn.updateConfiguration(configuration()));
onThemeChange(() => {
  // Scalar reads the scheme of its configuration only once; from then on it is these two classes.
  document.body.classList.toggle('dark-mode', isDark());
  document.body.classList.toggle('light-mode', !isDark());
});

function configuration() {
  const { key, group, token } = reader();
  return {
    url: place.dataset.document,
    // Calls go to the service that serves this page, whatever addresses the document names.
    servers: [{ url: location.origin, description: 'This service' }],
    authentication: {
      securitySchemes: {
        ApiKey: { value: key },
        PracticeGroupId: { value: group },
        OperatorToken: { token },
      },
    },
    generateTagSlug: (/** @type {{ name: string }} */ { name }) => name.toLowerCase().replaceAll(' ', '-'),
    generateOperationSlug: (/** @type {{ operationId?: string }} */ { operationId }) => operationId ?? '',
    forceDarkModeState: isDark() ? 'dark' : 'light',
    hideDarkModeToggle: true,
    // The search of the site finds operations too.
    hideSearch: true,
    theme: 'none',
    layout: 'modern',
    withDefaultFonts: false,
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    documentDownloadType: 'direct',
    operationTitleSource: 'summary',
    persistAuth: false,
    // All fields, in the order of the document: by default the first twelve by name are shown, and the others behind a button.
    orderSchemaPropertiesBy: 'preserve',
    orderRequiredPropertiesFirst: false,
    expandAllSchemaProperties: true,
    // Nothing that leads away from this service or tells anybody of it.
    telemetry: false,
    hideClientButton: true,
    showDeveloperTools: 'never',
    agent: { disabled: true },
    mcp: { disabled: true },
  };
}
