// Runs before the page is drawn, so that nothing flickers.
{
  const root = document.documentElement;
  root.classList.add('js');
  try {
    const theme = localStorage.getItem('porter.theme');
    if (theme) root.dataset.theme = theme;
  } catch {
    // A browser that keeps nothing shows the scheme of the system.
  }
}
