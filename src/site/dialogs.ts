import { lens } from './icons.ts';

/** Opened by the buttons of the bar; without a script they are never seen. */
export const dialogs = `<dialog class="search" aria-label="Search">
<div class="box">
<div class="query">${lens}<input type="text" role="combobox" aria-label="Search the documentation" aria-autocomplete="list" aria-controls="results" aria-expanded="false" placeholder="Search" autocomplete="off" autocapitalize="off" spellcheck="false"><button type="button" class="close">Close</button></div>
<div id="results" role="listbox" aria-label="Results"></div>
<p role="status"></p>
</div>
</dialog>
<dialog class="reader" aria-labelledby="reader-title">
<form>
<h2 id="reader-title">Your key</h2>
<p>It fills in the examples, and is sent with the calls that you try out. This tab keeps it until you close the tab.</p>
<p class="known"></p>
<p class="live" hidden><strong>This is a live key.</strong> Calls that you try out act on real practices.</p>
<label>API key <input type="password" name="key" autocomplete="off" spellcheck="false" placeholder="ptr_test_…"></label>
<label>Practice group <input type="text" name="group" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="riverside-surgery"></label>
<label>Operator token <small>for the operator API</small> <input type="password" name="token" autocomplete="off" spellcheck="false" placeholder="pto_…"></label>
<p role="alert"></p>
<div class="actions"><button type="submit" class="primary">Save</button><button type="button" class="cancel">Cancel</button><button type="button" class="clear">Clear all</button></div>
</form>
</dialog>`;
